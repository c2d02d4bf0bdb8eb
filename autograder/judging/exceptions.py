"""What PyTorch's, NumPy's and Python's commonest errors mean, in the words of the lessons."""

from __future__ import annotations

import contextlib
import re

from .misfits import misfit
from .observations import where_given
from .sentences import ERRORS
from .values import Raised

NAME_OF_NONE = re.compile(r"(\w+) is None")
LONGEST = 160  # characters of an error's own text

# Each pattern is searched for in `kind: text`, and the first one counts; `sentences.ERRORS` has the words.
OF_PYTORCH: tuple[tuple[str, str], ...] = (
    ("stub", r"^NotImplementedError: $"),
    ("no transpose", r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (?!\1x)(\d+)x(?!\2\))(\d+)\)"),
    ("matrix product", r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"),
    (
        "inner sizes",
        r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), "
        r"(\d+)\]|"
        r"size mismatch|inconsistent tensor size|vector and vector expected",
    ),
    (
        "line up",
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
    ),
    ("cannot grow", r"output with shape (\[.*?\]) doesn't match the broadcast shape (\[.*?\])"),
    ("expanded", r"more than one element of the written-to tensor"),
    ("learned", r"a (?:view of a )?leaf Variable that requires grad is being used in an in-place operation"),
    ("parameter", r"cannot assign '.*' as parameter '(\w+)'"),
    ("overflow", r"value cannot be converted to type \w+ without overflow"),
    ("overwritten", r"modified by an inplace operation"),
    (
        "no gradient",
        r"element 0 of tensors does not require grad|does not require grad and does not have a grad_fn",
    ),
    ("numpy gradient", r"Can't call numpy\(\) on Tensor that requires grad"),
    (
        "bool minus",
        r"with (?:a bool tensor|two bool tensors) is not supported|"
        r"unsupported operand type\(s\) for -: 'bool'|boolean subtract",
    ),
    (
        "two dtypes",
        r"same dtype|expected scalar type (\w+) but found (\w+)|"
        r"Index put requires the source and destination dtypes match",
    ),
    (
        "no super",
        r"cannot assign (?:module|parameters?) before Module\.__init__\(\) call|has no attribute '_modules'",
    ),
    ("unpack", r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)(?:, got (\d+))?\)"),
    (
        "none",
        r"'NoneType' object|NoneType' and '|and 'NoneType'|and NoneType|not NoneType|got NoneType|"
        r", NoneType|\(NoneType",
    ),
    ("devices", r"on the same device|Cannot copy out of meta tensor|device meta|but found at least two devices"),
    ("no axis", r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)"),
    ("permute", r"number of dimensions in the tensor input does not match the length of the desired ordering"),
    ("indices", r"too many indices for tensor of dimension (\d+)"),
    (
        "boolean index",
        r"The shape of the mask (\[.*?\]) at index \d+ does not match the shape of the indexed tensor (\[.*?\])",
    ),
    (
        "nothing there",
        r"Expected reduction dim to be specified for input\.numel\(\) == 0|has no elements|"
        r"of an empty (?:tensor|list)|iterable argument is empty|arg is an empty sequence|"
        r"Expected reduction dim \S+ to have non-zero size|non-empty (?:list|TensorList)",
    ),
    (
        "not whole",
        r"must be tuple of ints, ?but (?:found element of type|got) float|"
        r"'float' object cannot be interpreted as an int|argument 'size' .* not float|"
        r"must be int, not float|slice indices must be integers",
    ),
    ("arange", r"upper bound and (?:lower|larger) bound inconsistent with step sign"),
    (
        "taken for",
        r"(\w+)\(\): argument '(\w+)' failed to unpack|"
        r"(\w+)\(\): argument '(\w+)' (?:\(position \d+\) )?must be tuple of ints",
    ),
    ("combination", r"(\w+)\(\) received an invalid combination of arguments - got \(([^)]*)\)"),
    ("index", r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)"),
    ("list index", r"^IndexError: (?:list|tuple|string) index out of range"),
    ("state dict", r"Error\(s\) in loading state_dict"),
    ("past the end", r"out of bounds|index out of range"),
    ("view", r"view size is not compatible with input tensor's size and stride"),
    ("fill a shape", r"shape '(\[[^\]]*\])' is invalid for input of size (\d+)"),
    (
        "assigned",
        r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)|shape mismatch",
    ),
    (
        "plain number",
        r"argument 'input' \(position 1\) must be Tensor, not (int|float)|must be Tensor, not (int|float)",
    ),
    (
        "whole tensor",
        r"must be real number, not Tensor|only one element tensors can be converted|"
        r"only tensors? (?:with one element|can be converted)|cannot be converted to Scalar",
    ),
    ("joined truth", r"ambiguous\n.*(?:\band\b|\bor\b|<=?[^=]*<)"),
    ("truth", r"Boolean value of Tensor with more than one value is ambiguous"),
    (
        "einsum",
        r"number of subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)",
    ),
    ("one axis", r"only supported on matrices or batches of matrices\. Got (\d+)-D tensor"),
    (
        "single",
        r"diag\(\): Supports 1D or 2D tensors|outer: Expected 1-D|dot : expected 1D|"
        r"t\(\) expects a tensor with <= 2",
    ),
    ("fixed axes", r"batch1 must be a 3D tensor|must be a 3D tensor|must be a matrix|input must be a matrix"),
    ("stack", r"stack expects each tensor to be equal size"),
    ("cat", r"Sizes of tensors must match except in dimension"),
    ("cat axes", r"Tensors must have same number of dimensions: got (\d+) and (\d+)"),
    ("list", r"(?:list|tuple|string) indices must be integers|^TypeError: only integer tensors of a single element"),
    ("not in it", r"^ValueError: .*(?:is not in (?:list|deque)|x not in (?:tuple|list))|^ValueError: substring not found"),
    ("no key", r"^KeyError: "),
    ("joined", r"expected Tensor as element \d+ in argument 0, but got (\w+)"),
    (
        "whole numbers",
        r"could not infer output dtype\. Input dtype must be either a floating point or complex dtype\. Got: (\w+)|"
        r"""\"\w+\" not implemented for '(Long|Int|Bool|Byte|Short)'""",
    ),
    (
        "boolean mask",
        r"operator\.invert\) is only implemented|only supports boolean masks|expected BoolTensor|"
        r"mask tensor can (?:only )?be|'tensors used as indices|bitwise_not",
    ),
    ("two things", r"unsupported operand type\(s\) for .*torch\.return_types"),
    ("not run", r"^NotDefined: "),
    ("not defined", r"name '(\w+)' is not defined|cannot access local variable '(\w+)'"),
    (
        "arguments",
        r"missing \d+ required (?:positional|keyword-only) arguments?|got an unexpected keyword argument|"
        r"takes .* positional arguments? but|takes no arguments",
    ),
    ("brackets", r"object is not subscriptable|object is not callable"),
    ("not called", r"builtin_function_or_method|'method' and|and 'method'|'function' and|and 'function'"),
    ("no file", r"FileNotFoundError"),
    ("no package", r"ModuleNotFoundError"),
    ("zero", r"ZeroDivisionError"),
    ("recursion", r"RecursionError"),
    ("no attribute", r"object has no attribute '(\w+)'"),
)

# NumPy's own, and those of NumPy and PyTorch in one line; searched before the others
OF_NUMPY: tuple[tuple[str, str], ...] = (
    ("matrix product", r"matmul: Input operand|shapes \(.*\) not aligned"),
    ("einsum array", r"einstein sum subscripts|operand has more dimensions than subscripts"),
    (
        "in place array",
        r"non-broadcastable output operand|output array is read-only|assignment destination is read-only|"
        r"Cannot cast ufunc",
    ),
    ("arrays line up", r"could not be broadcast together|could not broadcast input array"),
    ("transpose array", r"axes don't match array"),
    ("no axis array", r"AxisError"),
    ("truth", r"truth value of an array with more than one element"),
    ("fill an array", r"cannot reshape array of size (\d+) into shape (\(.*?\))"),
    ("indices", r"too many indices for array: array is (\d+)-dimensional"),
    ("boolean index", r"boolean index did not match indexed array"),
    ("cat", r"all the input array"),
    ("stack", r"all input arrays must have the same shape"),
    ("one position", r"only integer scalar arrays can be converted to a scalar index"),
    ("whole array", r"only (?:0-dimensional|length-1|size-1) arrays can be converted"),
    ("boolean mask", r"ufunc '(?:invert|bitwise_\w+)' not supported"),
    ("dtype argument", r"Cannot interpret '.*' as a data type"),
    ("nothing there", r"zero-size array to reduction operation"),
    (
        "numpy names",
        r"\b_?(?:sum|mean|a?max|a?min|argmax|std|var|any|all|stack|"
        r"concatenate)\(\) got an unexpected keyword argument '(?:dim|keepdim)'",
    ),
    ("array method", r"'numpy\.ndarray' object has no attribute '(\w+)'"),
    ("numpy function", r"module 'numpy' has no attribute '(\w+)'"),
    (
        "mixed libraries",
        r"must be Tensor, not numpy\.ndarray|: 'numpy\.ndarray' and 'Tensor'|"
        r": 'Tensor' and 'numpy\.ndarray'|\(numpy\.ndarray",
    ),
    ("a tensor already", r"expected np\.ndarray \(got Tensor\)"),
)


def meaning(error: Raised, *, hidden: bool = False, source: str = "") -> tuple[str, str]:
    """Return what an error means and what to do about it, by its id and in words; twice '' where nothing is known.

    Args:
        error: the error.
        hidden: say nothing that was taken from the error's text, which is the student's own and could carry inputs.
        source: the student's code, where it is known.
    """
    if error.where.startswith("raise ") and error.kind != "NotImplementedError":
        return "own raise", ERRORS["own raise"][0]
    said, empty = f"{error.kind}: {error.text}", NAME_OF_NONE.search(error.shapes)
    if empty and not hidden and "NoneType" in said:
        return "is none", ERRORS["is none"][0].format(empty[1], where_given(source, empty[1], error.where))
    if found := misfit(said, error.where, error.shapes, hidden=hidden):
        return found
    for name, pattern in (*OF_NUMPY, *OF_PYTORCH):
        match = re.search(pattern, f"{said}\n{error.where}" if name == "joined truth" else said)
        with contextlib.suppress(IndexError):  # a sentence with a gap that nothing was found for says nothing
            if match:
                groups = (group for group in match.groups() if group is not None)
                return name, ERRORS[name][-1] if hidden else ERRORS[name][0].format(*groups)
    return "", ""


def what_happened(error: Raised) -> str:
    """Say where it stopped: the error, the line in the student's own cell, and the shapes that met there."""
    first = error.text.splitlines()[0][:LONGEST].rstrip(".") if error.text else ""
    line = f" in `{error.where}`" if error.where else ""
    shapes = f". There {error.shapes}." if error.shapes else ""
    return f"It stopped with {error.kind}{line}{': ' + first if first else ''}{shapes}"
