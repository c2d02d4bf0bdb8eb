"""What PyTorch's, NumPy's and Python's commonest errors mean, in the words of the lessons."""

from __future__ import annotations

import contextlib
import re

from .misfits import misfit
from .values import Raised

NAME_OF_NONE = re.compile(r"(\w+) is None")
LONGEST = 160  # characters of an error's own text

# Each pattern is searched for in `kind: text`; {0}, {1} … in a sentence are what its groups found. The first pattern
# counts. A sentence with such gaps has a second one without, for inputs that the student has not seen.
MEANINGS: tuple[tuple[str, ...], ...] = (
    (
        r"^NotImplementedError: $",
        "The line `raise NotImplementedError()` is still reached. Your code goes in its place.",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "A matrix product needs as many columns on the left as rows on the right; {1} met {2}. Is a transpose "
        "missing, or one too many, or is one of the two not the tensor you meant?",
        "A matrix product needs as many columns on the left as rows on the right. Is a transpose missing, or "
        "one too many?",
    ),
    (
        r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), "
        r"(\d+)\]|size mismatch|inconsistent tensor size|vector and vector expected",
        "The inner sizes of a matrix product differ: the last axis of the left one has to be as long as the "
        "second-to-last of the right one. Is a transpose missing, or an axis that squeeze() took away?",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension "
        r"(\d+)",
        "Two tensors do not line up: {0} meets {1} on axis {2}. Shapes are compared from the right, and only an "
        "axis of size 1 stretches.",
        "Two tensors do not line up. Shapes are compared from the right, and only an axis of size 1 stretches.",
    ),
    (
        r"output with shape (\[.*?\]) doesn't match the broadcast shape (\[.*?\])",
        "An operation in place, such as &=, += or copy_, writes into its first tensor, {0}, which cannot grow to {1}. "
        "Do the two belong together? Then make a new tensor: a = a & b leaves the caller's alone.",
        "An operation in place, such as &=, += or copy_, writes into its first tensor, which cannot grow. "
        "Write it without assigning in place.",
    ),
    (
        r"more than one element of the written-to tensor",
        "An operation in place, such as &= or +=, writes into a tensor that was expanded, whose rows share their "
        "memory. Make a new tensor instead: a = a & b leaves the caller's alone.",
    ),
    (
        r"a (?:view of a )?leaf Variable that requires grad is being used in an in-place operation",
        "A tensor that learns was written to while autograd was watching. Make a new tensor; if you do mean to "
        "overwrite a parameter, do it under torch.no_grad().",
    ),
    (
        r"cannot assign '.*' as parameter '(\w+)'",
        "A parameter cannot be replaced by a plain tensor. Write into the one that is there: copy_, under "
        "torch.no_grad().",
    ),
    (
        r"value cannot be converted to type \w+ without overflow",
        "A number does not fit into the dtype of the tensor it goes to: whole numbers have no infinity, and float16 "
        "ends at 65504. Create the tensor with a dtype that has it.",
    ),
    (
        r"modified by an inplace operation",
        "A result was overwritten that autograd still needs for the gradient. Make a new tensor instead of "
        "writing into that one: masked_fill and torch.where do.",
    ),
    (
        r"element 0 of tensors does not require grad|does not require grad and does not have a grad_fn",
        "No gradient comes back to the inputs: the result was cut off from them. detach, .data, .item(), NumPy, "
        "math.* and torch.tensor(...) all do that.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy knows nothing of gradients, so a tensor that has one cannot become an array. Stay with PyTorch's "
        "functions.",
    ),
    (
        r"with (?:a bool tensor|two bool tensors) is not supported|"
        r"unsupported operand type\(s\) for -: 'bool'|boolean subtract",
        "True and False cannot be subtracted. Use ~ to invert a mask; to calculate with one, turn it into "
        "numbers first.",
    ),
    (
        r"same dtype|expected scalar type (\w+) but found (\w+)|"
        r"Index put requires the source and destination dtypes match",
        "Two dtypes met: something that your code creates is not of the inputs' dtype. If the exercise gives it to "
        "you, as it does weights, use what is given; if not, create it like x: dtype=x.dtype, or x.new_zeros.",
    ),
    (
        r"cannot assign (?:module|parameters?) before Module\.__init__\(\) call|has no attribute '_modules'",
        "`super().__init__()` is missing. It comes first in `__init__`: it prepares the module to hold layers.",
    ),
    (
        r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)(?:, got (\d+))?\)",
        "The left side names {0} things, and a different number came. Will it always be {0}?",
        "The left side names another number of things than came. Will it always be that many?",
    ),
    (
        r"'NoneType' object|NoneType' and '|and 'NoneType'|and NoneType|not NoneType|got NoneType|"
        r", NoneType|\(NoneType",
        "Something is None on that line: an argument that may be left out, or a function that returned nothing.",
    ),
    (
        r"on the same device|Cannot copy out of meta tensor|device meta|but found at least two devices",
        "Two tensors live on different devices. What you create yourself needs device=... too.",
    ),
    (
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
        "There is no axis {2}: the tensor has fewer. Counted from the end, -1 and -2, axes are there for any "
        "number in front.",
        "An axis was named that the tensor does not have. Counted from the end, -1 and -2, axes are there for "
        "any number of axes in front.",
    ),
    (
        r"number of dimensions in the tensor input does not match the length of the desired ordering",
        "`permute` lists as many axes as the tensor has, and here it has another number. .mT, or transpose(-2, -1), "
        "swaps the last two of any.",
    ),
    (
        r"too many indices for tensor of dimension (\d+)",
        "More indices than axes: the tensor has {0}. What shape does it have in this check?",
        "More indices than the tensor has axes. What shape can it have?",
    ),
    (
        r"The shape of the mask (\[.*?\]) at index \d+ does not match the shape of the indexed tensor (\[.*?\])",
        "A boolean index has to have the shape of what it indexes, and {0} met {1}: indexing does not broadcast. "
        "masked_fill and torch.where do.",
        "A boolean index has to have the shape of what it indexes: indexing does not broadcast.",
    ),
    (
        r"Expected reduction dim to be specified for input\.numel\(\) == 0|has no elements|of an empty (?:tensor|list)|"
        r"iterable argument is empty|arg is an empty sequence|Expected reduction dim \S+ to have non-zero size|"
        r"non-empty (?:list|TensorList)",
        "The largest, or the first, of no numbers was asked for: something is empty there, such as `[:0]` or `[n:]`. "
        "Does a loop begin or end one step off?",
    ),
    (
        r"must be tuple of ints, ?but (?:found element of type|got) float|"
        r"'float' object cannot be interpreted as an int|"
        r"argument 'size' .* not float|must be int, not float|slice indices must be integers",
        "A size or a position has to be a whole number, and this one is a float: `/` makes one, `//` does not.",
    ),
    (
        r"upper bound and (?:lower|larger) bound inconsistent with step sign",
        "`arange` was asked to count up to a number below the one where it begins. What are the two on these inputs?",
    ),
    (
        r"(\w+)\(\): argument '(\w+)' failed to unpack|"
        r"(\w+)\(\): argument '(\w+)' (?:\(position \d+\) )?must be tuple of ints",
        "`{0}` took one of your arguments for its `{1}`. What is not a size is passed by name, as in dtype=... or "
        "generator=...",
        "A function took one of your arguments for a size. What is not a size is passed by name, as in dtype=...",
    ),
    (
        r"(\w+)\(\) received an invalid combination of arguments - got \(([^)]*)\)",
        "`{0}` does not take these kinds of arguments together: {1}. Where it wants a number, a whole tensor will "
        "not do, and vice versa. What is optional is passed by name.",
        "A function does not take these kinds of arguments together. Where it wants a number, a whole tensor "
        "will not do.",
    ),
    (
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "Index {0} was asked for on axis {1}, which has size {2}. Is that the axis you mean, with a batch in front? If "
        "so, which size should the loop or the index run over?",
        "An index points past the end of an axis. Is that the axis you mean, with a batch in front?",
    ),
    (
        r"^IndexError: (?:list|tuple|string) index out of range",
        "A list or a tuple is shorter than that index asks for. What does it hold on these inputs; may it be empty?",
    ),
    (
        r"Error\(s\) in loading state_dict",
        "A state_dict fits a module whose parameters have the same names and shapes, and here they do not. Copy them "
        "one by one.",
    ),
    (
        r"out of bounds|index out of range",
        "An index points past the end. Which size should the loop or the index run over?",
    ),
    (
        r"view size is not compatible with input tensor's size and stride",
        "After a transpose the numbers no longer lie in memory in order, which `view` needs. Use `reshape` or "
        "`flatten`.",
    ),
    (
        r"shape '(\[[^\]]*\])' is invalid for input of size (\d+)",
        "{1} numbers do not fill the shape {0}. Each size has to come from the tensor that you reshape, and from "
        "this call.",
        "The numbers do not fill the shape that was asked for. Each size has to come from the tensor that you reshape.",
    ),
    (
        r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)|shape mismatch",
        "What you assign or expand does not have the shape of the place it goes to.",
    ),
    (
        r"argument 'input' \(position 1\) must be Tensor, not (int|float)|must be Tensor, not (int|float)",
        "torch's functions take tensors, and this is a plain number. For those there are `math`, ** 0.5, and Python's "
        "own max and min; or make it a tensor first.",
    ),
    (
        r"must be real number, not Tensor|only one element tensors can be converted|"
        r"only tensors? (?:with one element|can be converted)|cannot be converted to Scalar",
        "A whole tensor was put where one number belongs. PyTorch's own functions work on all entries at once.",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "`if`, `and`, `or` and a chain such as 0 <= x < n ask for one True or False, and a tensor holds many. For its "
        "entries there are & and |, with each comparison in parentheses; whether an argument was given says `is None`.",
    ),
    (
        r"number of subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)",
        "The einsum names {0} axes, and here a tensor has {1}. `...` stands for any number of axes in front.",
        "The einsum names another number of axes than a tensor has. `...` stands for any number of axes in front.",
    ),
    (
        r"only supported on matrices or batches of matrices\. Got (\d+)-D tensor",
        "A tensor with one axis cannot be transposed. Either a single row may come in here, and needs a second axis "
        "first, or a loop or an index took a matrix apart that should stay whole.",
    ),
    (
        r"diag\(\): Supports 1D or 2D tensors|outer: Expected 1-D|dot : expected 1D|"
        r"t\(\) expects a tensor with <= 2",
        "That function knows a single row or matrix, and here there are axes in front. Which one takes any "
        "number of them?",
    ),
    (
        r"batch1 must be a 3D tensor|must be a 3D tensor|must be a matrix|input must be a matrix",
        "That product takes a fixed number of axes, and here there are others. `@` takes any number in front.",
    ),
    (
        r"stack expects each tensor to be equal size|Sizes of tensors must match except in dimension",
        "Tensors that are stacked or joined need equal shapes, and here they differ. Which of them has another, and "
        "why? Joining does not broadcast.",
    ),
    (
        r"expected Tensor as element \d+ in argument 0, but got (\w+)",
        "torch.stack and torch.cat join tensors, and there is a {0} among them.",
        "torch.stack and torch.cat join tensors, and something else is among them.",
    ),
    (
        r"could not infer output dtype\. Input dtype must be either a floating point or complex dtype\. Got: (\w+)|"
        r"""\"\w+\" not implemented for '(Long|Int|Bool|Byte|Short)'""",
        "That is not defined for whole numbers or booleans ({0}). Turn them into floating-point numbers first.",
        "That is not defined for whole numbers or booleans. Turn them into floating-point numbers first.",
    ),
    (
        r"operator\.invert\) is only implemented|"
        r"only supports boolean masks|expected BoolTensor|mask tensor can (?:only )?be|'tensors used as indices|"
        r"bitwise_not",
        "A mask has to be boolean here: True and False, not numbers.",
    ),
    (
        r"unsupported operand type\(s\) for .*torch\.return_types",
        "max and min with a `dim` return two things, the values and their places. You need the values alone: "
        "amax, amin.",
    ),
    (
        r"^NotDefined: ",
        "The exercise is not defined: its cell is missing, or it stopped with an error. Run that cell by itself, and "
        "then from a fresh start all cells in order.",
    ),
    (
        r"name '(\w+)' is not defined|cannot access local variable '(\w+)'",
        "`{0}` is not defined at that point. Is it spelled as elsewhere, imported, and assigned on every path?",
        "A name is not defined at that point. Is it spelled as elsewhere, imported, and assigned on every path?",
    ),
    (
        r"missing \d+ required (?:positional|keyword-only) arguments?|got an unexpected keyword argument|"
        r"takes .* positional arguments? but|takes no arguments",
        "A function was called with arguments that it does not take, or without some that it needs. Which ones does "
        "it take, and which by name only? The `def` line of the exercise stays as it was released.",
    ),
    (
        r"object is not subscriptable|object is not callable",
        "Round and square brackets were mixed up: a method is called, x.size(0), and an attribute is indexed, "
        "x.shape[0].",
    ),
    (
        r"builtin_function_or_method|'method' and|and 'method'|'function' and|and 'function'",
        "A function or method stands there without being called: its parentheses are missing.",
    ),
    (
        r"FileNotFoundError",
        "A file is not there. When graded, only this lesson's own files lie beside the notebook.",
    ),
    (
        r"ModuleNotFoundError",
        "A package is not there. When graded, only what this course installs is.",
    ),
    (
        r"ZeroDivisionError",
        "Something was divided by 0.",
    ),
    (
        r"RecursionError",
        "The function calls itself without end.",
    ),
    (
        r"object has no attribute '(\w+)'",
        "There is no `{0}` on that object. Is it a tensor, an array, a plain number or a tuple?",
        "An object does not have the attribute that was asked for. Is it a tensor, an array, a plain number "
        "or a tuple?",
    ),
)

# NumPy's own, and those of NumPy and PyTorch in one line; searched before the others
OF_NUMPY: tuple[tuple[str, ...], ...] = (
    (
        r"matmul: Input operand|shapes \(.*\) not aligned",
        "A matrix product needs as many columns on the left as rows on the right. Is a transpose missing, or one too "
        "many, or is one of the two not the array you meant?",
    ),
    (
        r"einstein sum subscripts|operand has more dimensions than subscripts",
        "The einsum names another number of axes than an array has. `...` stands for any number of axes in front.",
    ),
    (
        r"non-broadcastable output operand|output array is read-only|assignment destination is read-only|"
        r"Cannot cast ufunc",
        "An operation in place, such as += or /=, writes into an array that cannot take the result: its shape, its "
        "dtype or its memory is another. Make a new array: a = a / b leaves the caller's alone.",
    ),
    (
        r"could not be broadcast together|could not broadcast input array",
        "Two arrays do not line up. Shapes are compared from the right, and only an axis of size 1 stretches. Did a "
        "sum or a maximum lose its axis, or is an axis in another place?",
    ),
    (
        r"axes don't match array",
        "NumPy's `transpose` wants the new order of all axes, as many as the array has. Two of them are swapped by "
        "swapaxes; .mT swaps the last two.",
    ),
    (
        r"AxisError",
        "There is no such axis: the array has fewer. Counted from the end, -1 and -2, axes are there for any number "
        "in front.",
    ),
    (
        r"truth value of an array with more than one element",
        "`if`, `and`, `or` and a chain such as 0 <= x < n ask for one True or False, and an array holds many. For its "
        "entries there are & and |, with each comparison in parentheses; whether an argument was given says `is None`.",
    ),
    (
        r"cannot reshape array of size (\d+) into shape (\(.*?\))",
        "{0} numbers do not fill the shape {1}. Each size has to come from the array that you reshape, and from this "
        "call.",
        "The numbers do not fill the shape that was asked for. Each size has to come from the array that you reshape.",
    ),
    (
        r"too many indices for array: array is (\d+)-dimensional",
        "More indices than axes: the array has {0}. What shape does it have in this check?",
        "More indices than the array has axes. What shape can it have?",
    ),
    (
        r"boolean index did not match indexed array",
        "A boolean index has to have the shape of what it indexes: indexing does not broadcast, np.where does.",
    ),
    (
        r"all the input array|all input arrays must have the same shape",
        "Arrays that are stacked or joined need equal shapes, and here they differ. Which of them has another, and "
        "why? Joining does not broadcast.",
    ),
    (
        r"only integer scalar arrays can be converted to a scalar index",
        "A whole array was put where one position belongs. np.concatenate and np.stack take their arrays in one list, "
        "in brackets.",
    ),
    (
        r"only (?:0-dimensional|length-1|size-1) arrays can be converted",
        "A whole array was put where one number belongs. NumPy's own functions, such as np.exp, work on all entries at "
        "once.",
    ),
    (
        r"ufunc '(?:invert|bitwise_\w+)' not supported",
        "A mask has to be boolean here: True and False, not numbers.",
    ),
    (
        r"Cannot interpret '.*' as a data type",
        "A number stands where a dtype belongs. np.zeros and its like take a shape as one argument, in parentheses.",
    ),
    (
        r"zero-size array to reduction operation",
        "The largest, or the smallest, of no numbers was asked for: something is empty there. Does a loop begin or "
        "end one step off?",
    ),
    (
        r"\b_?(?:sum|mean|a?max|a?min|argmax|std|var|any|all|stack|concatenate)\(\) got an unexpected keyword argument "
        r"'(?:dim|keepdim)'",
        "NumPy says axis and keepdims where PyTorch says dim and keepdim.",
    ),
    (
        r"'numpy\.ndarray' object has no attribute '(\w+)'",
        "Arrays have no `{0}`: is it one of PyTorch's methods? NumPy has functions of its own for most of them.",
        "Arrays have no such method: is it one of PyTorch's? NumPy has functions of its own for most of them.",
    ),
    (
        r"module 'numpy' has no attribute '(\w+)'",
        "NumPy has no `{0}`. What it does can be written with a few functions that NumPy has.",
        "NumPy has no such function. What it does can be written with a few functions that NumPy has.",
    ),
    (
        r"must be Tensor, not numpy\.ndarray|: 'numpy\.ndarray' and 'Tensor'|: 'Tensor' and 'numpy\.ndarray'|"
        r"\(numpy\.ndarray",
        "A PyTorch function, or a tensor, met a NumPy array. Stay with one of the two; torch.from_numpy makes a tensor "
        "of an array.",
    ),
    (
        r"expected np\.ndarray \(got Tensor\)",
        "torch.from_numpy takes an array, and this is a tensor already.",
    ),
)


OWN_RAISE = (
    "Your own `raise` was reached with inputs that the exercise allows. Is its condition too strict, inverted, or "
    "about another axis?"
)


def meaning(error: Raised, *, hidden: bool = False) -> str:
    """Return what an error means and what to do about it, or '' where nothing is known.

    Args:
        error: the error.
        hidden: say nothing that was taken from the error's text, which is the student's own and could carry inputs.
    """
    if error.where.startswith("raise ") and error.kind != "NotImplementedError":
        return OWN_RAISE
    said, empty = f"{error.kind}: {error.text}", NAME_OF_NONE.search(error.shapes)
    if empty and not hidden and "NoneType" in said:
        return f"`{empty[1]}` is None on that line: an argument that may be left out, or what a function returned."
    if reason := misfit(said, error.where, error.shapes, hidden=hidden):
        return reason
    for pattern, sentence, *unseen in (*OF_NUMPY, *MEANINGS):
        match = re.search(pattern, said)
        if match and hidden and unseen:
            return unseen[0]
        if not match or (hidden and "{" in sentence):
            continue
        with contextlib.suppress(IndexError):  # a sentence with a gap that nothing was found for says nothing
            return sentence.format(*(group for group in match.groups() if group is not None))
    return ""


def what_happened(error: Raised) -> str:
    """Say where it stopped: the error, the line in the student's own cell, and the shapes that met there."""
    first = error.text.splitlines()[0][:LONGEST].rstrip(".") if error.text else ""
    line = f" in `{error.where}`" if error.where else ""
    shapes = f". There {error.shapes}." if error.shapes else ""
    return f"It stopped with {error.kind}{line}{': ' + first if first else ''}{shapes}"
