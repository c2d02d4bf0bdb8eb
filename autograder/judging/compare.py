"""Where two answers differ: first in what they are (type, shape, dtype), then in their numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .check import NO_RETURN
from .fingerprint import (
    GRADING_SLACK,
    SMALLEST_SIZE,
    Fingerprint,
    is_whole,
    leaf_fingerprint,
    norm_of,
    not_finite,
    numbers_agree,
    real_numbers,
    same_leaf,
    tolerance_of,
)
from .fingerprint import fingerprint as print_of
from .settings import CHANGED_SETTINGS
from .values import Leaf, Outcome, Raised, Returned, flatten, plain

LARGEST_PICTURE = 8
ONE_FACTOR = 1e-3  # at home the expected values are rounded
YES_OR_NO = {"True": "yes", "False": "no"}
MOST_ITEMS = 3
MOST_KEYS = 20
BETWEEN_ITEMS = re.compile(r",(?![^(]*\))")  # a comma between parentheses belongs to an item
NAME_IN_CODE = re.compile(r"[Tt]he \w+|(?:result|part) \d+|[A-Za-z_][\w.]*(?:\(.*\))?(?:\[.*\])?")
STEP = re.compile(r"\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+)\]")


@dataclass(frozen=True)
class Picture:
    """A small table of numbers that were asked for and that came out."""

    label: str
    yours: list[list[float]]
    expected: list[list[float]]
    differs: list[list[bool]]
    truth: bool = False

    @property
    def whole(self) -> bool:
        """Whether all its numbers are whole ones."""
        numbers = (number for rows in (self.yours, self.expected) for row in rows for number in row)
        return all(float(number).is_integer() for number in numbers)


def steps_of(path: str) -> list[str]:
    """Return a path's steps: `["0", "'weights'"]`."""
    return STEP.findall(path)


def leaf_label(path: str, names: Sequence[str] = (), siblings: int = 0) -> str:
    """Return a leaf's name as a student knows it.

    Args:
        path: where it is.
        names: what the docstring calls the things that are returned.
        siblings: how many there are on the last level; it has names where they are as many.
    """
    steps = steps_of(path)
    if not steps:
        return "the result"
    words = [
        step[1:-1] if not step.isdigit() else f"{'part' if i else 'result'} {int(step) + 1}"
        for i, step in enumerate(steps)
    ]
    if steps[-1].isdigit() and siblings == len(names) > 0:
        words[-1] = names[int(steps[-1])]
    return ": ".join(words)


def as_heading(label: str) -> str:
    """Return a leaf's name with a capital first letter, where it begins with a word and not with code."""
    first, second = [*label.split(), "", ""][:2]
    code = NAME_IN_CODE.fullmatch(label) and not label.startswith(("the ", "result "))
    return label if code or not first.isalpha() or second == "=" else label[:1].upper() + label[1:]


def as_subject(label: str, index: Sequence[int] = ()) -> str:
    """Return a leaf's name as the subject of a sentence: code as it is, words with a colon after them.

    Args:
        label: the leaf's name.
        index: which of its entries is meant.
    """
    entry = f"[{', '.join(map(str, index))}]" if index else ""
    if NAME_IN_CODE.fullmatch(label.rpartition(": ")[2]):
        return f"{as_heading(label)}{entry}"
    return f"{as_heading(label)}: {f'entry {entry}' if entry else 'it'}"


def label_in(path: str, leaves: Fingerprint, names: Sequence[str]) -> str:
    """Return a leaf's name among the leaves that were asked for."""
    parent = path[: path.rfind("[")] if "[" in path else ""
    below = {steps_of(p[len(parent) :])[0] for p in leaves if p.startswith(parent + "[")}
    return leaf_label(path, names, len(below))


def contract(yours: Fingerprint, right: Fingerprint, names: Sequence[str] = ()) -> str:
    """Say in one sentence what is wrong with type, structure, shape, dtype or finiteness; '' where nothing is."""
    mine, theirs = yours["leaves"], right.get("leaves", {})
    if is_nothing(mine.values()) and not any(leaf.get("type") == "NoneType" for leaf in theirs.values()):
        return NO_RETURN
    if mine.keys() != theirs.keys():
        path = first_odd_part(mine, theirs)
        found, asked = below(mine, path), below(theirs, path)
        name = label_in(path, theirs, names) if path else "it"
        where = f"{as_subject(name)} is " if path else "It returned "
        return f"{where}{describe_structure(found)}; {describe_structure(asked, names)} was asked for."
    for path, leaf in mine.items():
        problem = leaf_contract(label_in(path, theirs, names), leaf, theirs[path])
        if problem:
            return problem
    if yours.get("changed") and not right.get("changed"):
        return "One of the inputs was changed in place. Its owner still needs it: make a new tensor instead."
    return setting_left_changed(yours, right)


def setting_left_changed(yours: Fingerprint, right: Fingerprint) -> str:
    """Say which setting of the whole program was left changed; '' where none was."""
    changed = (name for name in yours.get("settings", ()) if name not in right.get("settings", ()))
    return next((CHANGED_SETTINGS.get(name, "") for name in changed), "")


def is_nothing(leaves: Iterable[Fingerprint]) -> bool:
    """Say whether nothing but None came back."""
    return all(leaf.get("type") == "NoneType" for leaf in leaves)


def below(leaves: Fingerprint, path: str) -> Fingerprint:
    """Return the leaves of a part, by their paths within it."""
    return {p.removeprefix(path): leaf for p, leaf in leaves.items() if p == path or p.startswith(path + "[")}


def first_odd_part(mine: Fingerprint, theirs: Fingerprint, path: str = "") -> str:
    """Return the path of the first part of two trees that is built otherwise, as deep as it goes."""
    ours, right = (list(dict.fromkeys(steps_of(p)[0] for p in below(t, path) if p)) for t in (mine, theirs))
    if not right or ours != right:
        return path
    for step in right:
        inner = f"{path}[{step}]"
        if below(mine, inner).keys() != below(theirs, inner).keys():
            return first_odd_part(mine, theirs, inner)
    return path


def describe_structure(leaves: Fingerprint, names: Sequence[str] = ()) -> str:
    """Describe a tree of results in words."""
    if "" in leaves:
        return describe_leaf(leaves[""])
    tops = list(dict.fromkeys(steps_of(path)[0] for path in leaves))
    if not tops[0].isdigit():
        return f"a dictionary with {', '.join(tops[:MOST_KEYS])}{' and others' if len(tops) > MOST_KEYS else ''}"
    if len(tops) == len(names):
        return f"a tuple of {len(tops)} ({', '.join(names)})"
    arrays = any(leaf.get("array") for leaf in leaves.values())
    same_kind = all("dtype" in leaf for leaf in leaves.values()) and len(tops) == len(leaves)
    what = ("array" if arrays else "tensor") if same_kind else "thing"
    return f"a list or tuple with {'one' if len(tops) == 1 else len(tops)} {what}{'s' * (len(tops) != 1)}"


def describe_leaf(leaf: Fingerprint) -> str:
    """Describe one leaf in words."""
    if "dtype" in leaf:
        return "one NumPy array" if leaf.get("array") else "one tensor"
    if "other" in leaf:
        return f"an {leaf['other']}" if leaf["other"].startswith("empty") else f"an object of type {leaf['other']}"
    value = leaf.get("plain", leaf.get("number"))
    return f"the text {value!r}" if isinstance(value, str) and "type" in leaf else str(value)


def leaf_contract(name: str, mine: Fingerprint, theirs: Fingerprint) -> str:
    """Compare what two leaves are, without their numbers."""
    subject = as_subject(name)
    if ("dtype" in mine) != ("dtype" in theirs):
        missing = " Is a `return` missing, or does no gradient come back?" if mine.get("type") == "NoneType" else ""
        return f"{subject} is {describe_leaf(mine)}; {describe_leaf(theirs)} was asked for.{missing}"
    if "dtype" not in mine:
        return plain_contract(name, mine, theirs)
    if mine.get("array") != theirs.get("array"):
        ours, right = ("a NumPy array" if leaf.get("array") else "a PyTorch tensor" for leaf in (mine, theirs))
        return f"{subject} is {ours}; {right} was asked for."
    if mine["shape"] != theirs["shape"]:
        return f"{subject} has shape {tuple(mine['shape'])}; it should be {tuple(theirs['shape'])}."
    if mine["dtype"] != theirs["dtype"]:
        alike = " The numbers are right." if same_leaf({**mine, "dtype": theirs["dtype"]}, theirs) else ""
        return f"{subject} is {mine['dtype']}; it should be {theirs['dtype']}.{alike}"
    if mine["nan"] and not theirs["nan"]:
        return f"{subject} contains NaN in {mine['nan']} of its entries."
    return ""


def plain_contract(name: str, mine: Fingerprint, theirs: Fingerprint) -> str:
    """Compare two plain values."""
    subject = as_subject(name)
    if "number" in mine and "number" in theirs:
        same_number = numbers_agree(mine["number"], theirs["number"], tolerance_of(theirs))
        ours, right = (f"{float(leaf['number']):.6g}" for leaf in (mine, theirs))
        return "" if same_number else f"{subject} is {ours}; it should be {right}."
    if mine == theirs:
        return ""
    kinds = [leaf.get("type", "float" if "number" in leaf else "") for leaf in (mine, theirs)]
    ours, right = describe_leaf(mine), describe_leaf(theirs)
    if kinds == ["str", "str"] and (odd := odd_items(mine["plain"], theirs["plain"])):
        return f"{subject} {odd}"
    if kinds[0] != kinds[1] and all(kind in ("int", "float", "bool") for kind in kinds):
        return f"{subject} is {ours}, of type {kinds[0]}; {right}, of type {kinds[1]}, was asked for."
    if not subject.endswith(": it"):
        return f"{subject} is {ours}, not {right}{times(mine, theirs)}.".replace("the text ", "")
    if kinds == ["bool", "bool"]:
        return f"{subject.removesuffix(' it')} {YES_OR_NO[ours]}, but it should be {YES_OR_NO[right]}."
    if kinds == ["str", "str"]:
        return f"{subject.removesuffix(' it')} {mine['plain']}, but it should be {theirs['plain']}."
    return f"{subject} is {ours}, not {right}{times(mine, theirs)}.".replace("the text ", "")


def odd_items(mine: str, theirs: str) -> str:
    """Say which items of a list, written as a text, are missing or too many; '' where it is no list."""
    ours, right = ([item.strip() for item in BETWEEN_ITEMS.split(text)] for text in (mine, theirs))
    missing, more = [i for i in right if i not in ours], [i for i in ours if i not in right]
    if min(len(ours), len(right)) < 2 or not missing + more or max(len(missing), len(more)) > MOST_ITEMS:
        return ""
    words = [f"lacks {', '.join(missing)}"] if missing else []
    words += [f"has {', '.join(more)}, not asked for"] if more else []
    return f"{' and '.join(words)}."


def times(mine: Fingerprint, theirs: Fingerprint) -> str:
    """Say that a count is a whole factor too large or too small; '' where it is not."""
    a, b = mine.get("plain"), theirs.get("plain")
    if type(a) is not int or type(b) is not int or min(a, b) < 1:
        return ""
    return f": {a // b} times too many" if a % b == 0 else f": a factor of {b // a} is missing" if b % a == 0 else ""


def equal(mine: Outcome, theirs: Outcome, tolerance: float | None) -> bool:
    """Say whether two outcomes agree, but for rounding and GRADING_SLACK.

    What the student's workspace accepts is accepted: the estimate that decides there is asked too, on finite numbers.
    """
    if not isinstance(mine, Returned) or not isinstance(theirs, Returned):
        return isinstance(mine, Raised) and isinstance(theirs, Raised) and mine.kind == theirs.kind
    ours, right = mine.leaves(), theirs.leaves()
    if mine.changed != theirs.changed or not set(mine.settings) <= set(theirs.settings):
        return False
    if [(a.path, a.array) for a in ours] != [(b.path, b.array) for b in right]:
        return False
    pairs = list(zip(ours, right, strict=True))
    tensors = [(a.value, b.value) for a, b in pairs if isinstance(a.value, Tensor) and isinstance(b.value, Tensor)]
    if any(a.shape != b.shape for a, b in tensors):
        return False
    if all(equal_leaf(a.value, b.value, tolerance) for a, b in pairs):
        return True
    known = print_of(theirs)["leaves"]
    return all(same_where_not_finite(a, b) for a, b in tensors) and all(
        same_leaf(leaf_fingerprint(leaf), known[leaf.path], tolerance, GRADING_SLACK) for leaf in ours
    )


def same_where_not_finite(mine: Tensor, theirs: Tensor) -> bool:
    """Say whether NaN and either infinity are in the same entries of two tensors of one shape."""
    if mine.is_complex() != theirs.is_complex():
        return True
    ours, right = not_finite(real_numbers(mine)), not_finite(real_numbers(theirs))
    return ours.keys() == right.keys() and all(ours[name].equal(right[name]) for name in right)


def equal_leaf(mine: Any, theirs: Any, tolerance: float | None) -> bool:
    """Compare two leaves. A bool is not a number, and an int is not a float."""
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
        return mine.shape == theirs.shape and mine.dtype == theirs.dtype and bool(close(mine, theirs, tolerance).all())
    if isinstance(mine, float) and isinstance(theirs, float):
        return numbers_agree(mine, theirs, GRADING_SLACK * tolerance_of({}, tolerance))
    return type(mine) is type(theirs) and bool(mine == theirs)


def close(mine: Tensor, theirs: Tensor, tolerance: float | None) -> Tensor:
    """Return, entry by entry, whether two tensors of one shape agree: relative to the entry, or to a usual entry."""
    a, b = real_numbers(mine), real_numbers(theirs)
    finite = b[b.isfinite()]
    whole = theirs.dtype.is_floating_point and is_whole(finite)
    limit = GRADING_SLACK * tolerance_of({"dtype": str(theirs.dtype).removeprefix("torch."), "whole": whole}, tolerance)
    usual = max(norm_of(finite) / math.sqrt(finite.numel() or 1), SMALLEST_SIZE)
    return torch.isclose(a, b, rtol=limit, atol=limit * usual, equal_nan=True)


def differing(mine: Returned, expected: Mapping[str, Any], tolerance: float) -> tuple[Leaf, Tensor, Tensor] | None:
    """Return the first leaf that differs, the right tensor there, and where they differ; None where nothing does.

    Args:
        mine: what the student's work returned; its contract is known to hold.
        expected: tensors (or nested lists) by path.
        tolerance: how far apart two entries may be; at home the expected values are rounded.
    """
    for leaf in flatten(mine.tree):
        if isinstance(leaf.value, Tensor) and leaf.path in expected:
            right = torch.as_tensor(expected[leaf.path]).detach().to(torch.float64)
            ours = plain(leaf.value).to(torch.float64)
            if ours.shape != right.shape:
                continue  # said by the contract
            differs = ~torch.isclose(ours, right, rtol=tolerance, atol=tolerance, equal_nan=True)
            if differs.any():
                return leaf, right, differs
    return None


def format_number(number: float, *, truth: bool = False) -> str:
    """Return a number with three decimals, a whole one without; True and False where those were asked for."""
    if truth:
        return str(bool(number))
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e6 else f"{number:.3f}"


def first_difference(name: str, mine: Tensor, right: Tensor, differs: Tensor) -> tuple[str, Picture | None]:
    """Describe the first differing entry of one tensor, and where the others are."""
    index, truth = tuple(int(i) for i in differs.nonzero()[0]), mine.dtype == torch.bool
    ours = plain(mine).to(torch.float64)
    values = [format_number(float(t[index]), truth=truth) for t in (ours, right)]
    if values[0] == values[1]:
        values = [f"{float(t[index]):.6g}" for t in (ours, right)]
    words = f"{as_subject(name, index)} is {values[0]}; it should be {values[1]}.{pattern(ours, right, differs, truth)}"
    if not index or max(mine.shape[-2:]) > LARGEST_PICTURE:
        return words, None
    lead = index[:-2]
    label = f"{name}{' ' * (NAME_IN_CODE.fullmatch(name) is None)}[{', '.join(map(str, lead))}]" if lead else name
    cut = [t[lead].reshape(-1, t.shape[-1]).tolist() for t in (ours, right, differs)]
    return words, Picture(label, cut[0], cut[1], cut[2], truth)


def pattern(ours: Tensor, right: Tensor, differs: Tensor, truth: bool) -> str:
    """Say how a whole tensor differs: all is one value, or one factor away, or where one slice does; '' otherwise."""
    first = float(ours.flatten()[0])
    if ours.numel() > 2 and bool((ours == first).all()):
        return f" Every entry is {format_number(first, truth=truth)}."
    factor = float((ours * right).sum() / (right * right).sum().clamp(min=SMALLEST_SIZE**2))
    if not truth and ours.numel() > 2 and bool((ours - factor * right).abs().max() <= abs(factor) * ONE_FACTOR):
        return f" Every entry is {factor:.3g} times what it should be."
    if bool(differs.all()):
        return ""
    zero = not truth and int(differs.sum()) > 1 and not bool(ours[differs].any())
    return part_that_differs(differs, "; there it is 0" if zero else "") or (" What differs is 0." if zero else "")


def part_that_differs(differs: Tensor, there: str) -> str:
    """Say which slices of a tensor differ, or which side of the diagonal; '' where neither does by itself."""
    names = () if differs.ndim < 2 else ((-2, "row"), (-1, "column"), *(((0, "sentence"),) if differs.ndim > 2 else ()))
    whole = torch.ones_like(differs)
    for side, triangle in (("above", whole.triu(1)), ("below", whole.tril(-1))) if names else ():
        if differs.equal(triangle) and int(differs.sum()) > 1:
            return f" Only entries {side} the diagonal differ{there}."
    for axis, name in names:
        other = [a for a in range(differs.ndim) if a != axis % differs.ndim]
        some, every = differs.amax(other), differs.amin(other)
        wrong, size = some.nonzero().flatten().tolist(), len(some)
        if size > 2 and len(wrong) == 1:
            return f" Only {name} {wrong[0]} differs{there}."
        if size > 2 and bool((some == every).all()) and len(wrong) == size - 1:
            return f" All differ but {name} {int((~some).nonzero())}{there}."
        if 2 < size > len(wrong) > 1 and wrong == list(range(wrong[0], size)):
            return f" Only {name}s from {wrong[0]} on differ{there}."
    return ""


def kind_of_trouble(mine: Fingerprint, right: Fingerprint) -> str:
    """Name the kind of difference between two results, without a number."""
    ours, theirs = mine["leaves"], right.get("leaves", {})
    pairs = [(ours[path], theirs[path]) for path in theirs if path in ours]
    if len(pairs) != len(theirs) or len(ours) != len(theirs):
        return "The result has another structure"
    if any("dtype" in b and a.get("plain", 0) is None for a, b in pairs):
        return "The result has None where a tensor belongs, such as a gradient that does not arrive"
    for what, words in (
        ("array", "another type, a tensor for an array or the reverse"),
        ("shape", "another shape"),
        ("dtype", "another dtype"),
        ("nan", "NaN in it"),
        ("infinite", "infinity in it"),
    ):
        if any(a.get(what) != b.get(what) for a, b in pairs):
            return f"The result has {words}"
    if mine.get("changed") and not right.get("changed"):
        return "An input was changed in place"
    return "A global setting was left changed" if setting_left_changed(mine, right) else "The result differs"
