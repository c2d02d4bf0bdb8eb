"""What PyTorch's, NumPy's and Python's commonest errors mean, in the words of the lessons."""

from __future__ import annotations

import re

from .sentences import ERRORS
from .values import Outcome, Raised

LONGEST = 160  # characters of an error's own text

# Each pattern is searched for in `kind: text`, and the first one counts; `sentences.ERRORS` has the words.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("stub", r"^NotImplementedError: $"),
    ("open", r"^NotImplementedError: (\w+) is still open$"),
    ("matrix product", r"matmul: Input operand|shapes \(.*\) not aligned|shapes cannot be multiplied"),
    ("matrix product", r"first two dimensions of batch2|size mismatch|inconsistent tensor size|vector and vector"),
    ("in place", r"doesn't match the broadcast shape|more than one element of the written-to tensor"),
    ("in place", r"non-broadcastable output operand|(?:array|destination) is read-only|Cannot cast ufunc"),
    ("in place", r"can't be cast to the desired output type"),
    ("line up", r"does not broadcast with previously seen|to match target batch_size|expected input with shape"),
    ("line up", r"must match the size of tensor|could not be broadcast together|could not broadcast input array"),
    ("learned", r"a (?:view of a )?leaf Variable that requires grad is being used in an in-place operation"),
    ("overwritten", r"modified by an inplace operation"),
    ("no gradient", r"does not require grad|Can't call numpy\(\) on Tensor that requires grad"),
    ("bool minus", r"with (?:a bool tensor|two bool tensors) is not supported|for -: 'bool'|boolean subtract"),
    ("bool minus", r"Negation, the `-` operator, on a bool tensor"),
    ("two dtypes", r"same dtype|expected scalar type|source and destination dtypes match"),
    ("no super", r"before Module\.__init__\(\) call|has no attribute '_modules'"),
    ("unpack", r"(?:not enough|too many) values to unpack"),
    ("is none", r"'NoneType' object|NoneType' and '|and 'NoneType'|and NoneType|not NoneType|got NoneType"),
    ("is none", r", NoneType|\(NoneType"),
    ("no axis", r"Dimension out of range|AxisError"),
    ("indices", r"too many indices for (?:tensor|array)"),
    ("list index", r"list index out of range|pop from empty list"),
    ("index", r"out of bounds|index out of range|values must be smaller than num_classes|from empty list"),
    ("view", r"view size is not compatible with input tensor's size and stride"),
    ("fill a shape", r"multiply up to the size of dim|only one dimension can be inferred|-1 can be any value"),
    ("fill a shape", r"is invalid for input of size|cannot reshape array of size"),
    ("plain number", r"must be Tensor, not (?:int|float)"),
    ("whole tensor", r"only integer scalar arrays can be converted|must be real number, not Tensor"),
    ("whole tensor", r"only one element tensors|cannot be converted to (?:a s|S)calar"),
    ("whole tensor", r"only tensors? (?:with one element|can be)|only (?:0-dimensional|length-1|size-1) arrays"),
    ("whole tensor", r"must be tuple of Tensors, not Tensor"),
    ("truth", r"Boolean value of Tensor|truth value of an array"),
    ("einsum", r"subscripts in the equation|einstein sum subscripts|operand has more dimensions than subscripts"),
    ("one axis", r"only supported on matrices"),
    ("fixed axes", r"Supports 1D or 2D tensors|outer: Expected 1-D|1D tensors expected|\+ matrix @ vector expected"),
    ("fixed axes", r"t\(\) expects a tensor with <= 2|must be a 3D tensor|must be a matrix"),
    ("stack", r"stack expects each tensor to be equal size|all input arrays must have the same shape"),
    ("cat", r"Sizes of tensors must match except|must have same number of dimensions|all the input array"),
    ("whole numbers", r"only support floating point and complex dtypes"),
    ("whole numbers", r"floating point or complex dtype\. Got|not implemented for '(?:Long|Int|Bool|Byte|Short)'"),
    ("boolean mask", r"operator\.invert\) is only implemented|only supports boolean masks|expected BoolTensor"),
    ("boolean mask", r"mask tensor can|'tensors used as indices|bitwise_not|ufunc '(?:invert|bitwise_\w+)' not"),
    ("two things", r"unsupported operand type\(s\) for .*torch\.return_types"),
    ("not run", r"^NotDefined: "),
    ("not defined", r"name '\w+' is not defined|cannot access local variable"),
    ("arguments", r"unexpected keyword argument|positional arguments? but|takes no arguments"),
)


def meaning(error: Raised) -> tuple[str, str]:
    """Return what an error means and what to do about it, by its id and in words; twice '' where nothing is known."""
    said = f"{error.kind}: {error.text}"
    name = next((f"own {word}" for word in ("raise", "assert") if error.where.startswith(f"{word} ")), "")
    if error.kind == "NotImplementedError" or not name:
        name = next((name for name, pattern in PATTERNS if re.search(pattern, said)), "")
    if name == "open":
        return name, ERRORS[name].format(name=error.text.partition(" ")[0])
    if name == "is none":
        return name, ERRORS[name].format(what=none_on(error))
    return name, ERRORS[name] if name else ""


def none_on(error: Raised) -> str:
    """Return what is None on the line that stopped, as far as that is known."""
    attribute = re.search(r"has no attribute '(\w+)'", error.text)
    before = re.search(rf"([A-Za-z_][\w.]*)\.{attribute[1]}\b", error.where) if attribute else None
    named = [before[1]] if before else re.findall(r"(\w+) is None", error.shapes)
    return f"`{named[0]}`, on that line," if len(named) == 1 else "Something on that line"


def what_happened(error: Raised) -> str:
    """Say where it stopped: the error, the line in the student's own cell, and the shapes that met there."""
    first = error.text.splitlines()[0][:LONGEST].rstrip(".") if error.text else ""
    line = f" in `{error.where}`" if error.where else ""
    shapes = f". There {error.shapes}." if error.shapes else ""
    return f"It stopped with {error.kind}{line}{': ' + first if first else ''}{shapes}"


def line_of(outcome: Outcome, cell: str) -> int:
    """Return the line of a cell that an exception came from; 0 where that is not known."""
    if not isinstance(outcome, Raised) or not outcome.where:
        return 0
    lines = [line.strip() for line in cell.split("\n")]
    return lines.index(outcome.where) + 1 if lines.count(outcome.where) == 1 else 0
