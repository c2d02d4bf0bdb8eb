"""Where two answers differ: first in what they are (type, shape, dtype), then in their numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .fingerprint import Fingerprint
from .values import Lost, Outcome, Raised, Returned, flatten, plain

LARGEST_PICTURE = 8
TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


@dataclass(frozen=True)
class Picture:
    """A small table of numbers that were asked for and that came out."""

    label: str
    yours: list[list[float]]
    expected: list[list[float]]
    differs: list[list[bool]]


def leaf_label(path: str) -> str:
    """Return a leaf's path as a student would write it; a summary's leaves have names of their own."""
    own = re.fullmatch(r"\['([^']*)'\](.*)", path)
    return own[1] + own[2] if own else f"result{path}"


def describe_stop(outcome: Raised | Lost) -> str:
    """Say how a student's work ended without a result."""
    if isinstance(outcome, Lost):
        return outcome.reason
    line = f" in `{outcome.where}`" if outcome.where else ""
    return f"It stopped with {outcome.kind}{line}: {outcome.text.splitlines()[0] if outcome.text else 'no message'}"


def contract(yours: Fingerprint, right: Fingerprint) -> str:
    """Say in one sentence what is wrong with type, structure, shape, dtype or finiteness; '' where nothing is."""
    mine, theirs = yours["leaves"], right.get("leaves", {})
    if mine.get("", {}).get("type") == "NoneType" != theirs.get("", {}).get("type"):
        return "It returned None. Is there a `return` at the end?"
    if mine.keys() != theirs.keys():
        if top_level_keys(mine) == top_level_keys(theirs) and "" not in mine:
            return first_odd_part(mine, theirs)
        return f"It returned {describe_structure(mine)}. What was asked for is {describe_structure(theirs)}."
    for path, leaf in mine.items():
        problem = leaf_contract(leaf_label(path), leaf, theirs[path])
        if problem:
            return problem
    if yours.get("changed") and not right.get("changed"):
        return "One of the inputs was changed in place. Its owner still needs it: make a new tensor instead."
    return ""


def top_level_keys(leaves: Fingerprint) -> list[str]:
    """Return the names of the uppermost level of a tree, in order."""
    return list(dict.fromkeys(top for path in leaves for top in re.findall(r"^\[.*?\]", path)))


def first_odd_part(mine: Fingerprint, theirs: Fingerprint) -> str:
    """Say which part of two trees with the same uppermost level is built otherwise."""
    for top in top_level_keys(theirs):
        ours, right = (
            {p.removeprefix(top): leaf for p, leaf in t.items() if p.startswith(top)} for t in (mine, theirs)
        )
        if ours.keys() != right.keys():
            return f"{leaf_label(top)} is {describe_structure(ours)}; {describe_structure(right)} was asked for."
    return "It returned something of another structure than what was asked for."


def describe_structure(leaves: Fingerprint) -> str:
    """Describe a tree of results in words."""
    if "" in leaves:
        return describe_leaf(leaves[""])
    tops = top_level_keys(leaves)
    if tops[0].startswith("['"):
        return f"a dictionary with {', '.join(top[1:-1] for top in tops)}"
    nested = "" if len(tops) == len(leaves) else f", with {len(leaves)} values in them"
    return f"a tuple of {len(tops)}{nested}"


def describe_leaf(leaf: Fingerprint) -> str:
    """Describe one leaf in words."""
    if "dtype" in leaf:
        return "one tensor"
    if "other" in leaf:
        return f"an object of type {leaf['other']}"
    return f"the value {leaf.get('plain', leaf.get('number'))!r}"


def leaf_contract(name: str, mine: Fingerprint, theirs: Fingerprint) -> str:
    """Compare what two leaves are, without their numbers."""
    if ("dtype" in mine) != ("dtype" in theirs):
        return f"{name} is {describe_leaf(mine)}; {describe_leaf(theirs) if 'dtype' in theirs else 'a plain value'} was asked for."
    if "dtype" not in mine:
        return (
            ""
            if "plain" not in mine or mine == theirs
            else f"{name} is {mine['plain']!r}, not {theirs.get('plain')!r}."
        )
    if mine["shape"] != theirs["shape"]:
        return f"{name} has shape {tuple(mine['shape'])}; it should be {tuple(theirs['shape'])}."
    if mine["dtype"] != theirs["dtype"]:
        made = " What makes a tensor needs the dtype of the inputs." if "float" in theirs["dtype"] else ""
        return f"{name} is {mine['dtype']}; it should be {theirs['dtype']}.{made}"
    if mine["nan"] and not theirs["nan"]:
        return f"{name} contains NaN in {mine['nan']} of its entries."
    return ""


def close(mine: Any, theirs: Any, tolerance: float | None) -> Tensor:
    """Return, entry by entry, whether two tensors of one shape agree within their dtype's tolerance, or a wider one."""
    limit = max(tolerance or 0.0, TOLERANCES.get(theirs.dtype, 0.0))
    a, b = plain(mine).to(torch.float64), plain(theirs).to(torch.float64)
    return torch.isclose(a, b, rtol=limit, atol=limit, equal_nan=True)


def equal(mine: Outcome, theirs: Outcome, tolerance: float | None) -> bool:
    """Say whether two outcomes agree exactly, but for rounding."""
    if not isinstance(mine, Returned) or not isinstance(theirs, Returned):
        return isinstance(mine, Raised) and isinstance(theirs, Raised) and mine.kind == theirs.kind
    pairs = list(zip(mine.leaves(), theirs.leaves(), strict=False))
    if mine.changed != theirs.changed or [a.path for a, _ in pairs] != [b.path for _, b in pairs]:
        return False
    if len(mine.leaves()) != len(theirs.leaves()):
        return False
    return all(equal_leaf(a.value, b.value, tolerance) for a, b in pairs)


def equal_leaf(mine: Any, theirs: Any, tolerance: float | None) -> bool:
    """Compare two leaves. A bool is not a number, and an int is not a float."""
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
        return mine.shape == theirs.shape and mine.dtype == theirs.dtype and bool(close(mine, theirs, tolerance).all())
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, float):
        limit = 1e-9 if tolerance is None else tolerance
        return bool(abs(mine - theirs) <= limit * max(1.0, abs(theirs)))
    return bool(mine == theirs)


def picture_of(mine: Returned, expected: Mapping[str, Any], tolerance: float) -> tuple[str, Picture | None]:
    """Find the first differing entry; return a sentence about it and a table around it, where one fits.

    Args:
        mine: what the student's work returned; its contract is known to hold.
        expected: tensors (or nested lists) by path.
        tolerance: how far apart two entries may be; at home the expected values are rounded.
    """
    for leaf in flatten(mine.tree):
        if not isinstance(leaf.value, Tensor) or leaf.path not in expected:
            continue
        right = torch.as_tensor(expected[leaf.path]).detach()
        differs = ~close(leaf.value, right, tolerance)
        if differs.any():
            return first_difference(leaf.path, plain(leaf.value).to(torch.float64), right, differs)
    return "", None


def format_number(number: Tensor) -> str:
    """Return a number with three decimals, a whole one without."""
    value = float(number)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.3f}"


def first_difference(path: str, mine: Tensor, right: Tensor, differs: Tensor) -> tuple[str, Picture | None]:
    """Describe the first differing entry of one tensor."""
    index = tuple(int(i) for i in differs.nonzero()[0])
    at = ", ".join(map(str, index))
    where = leaf_label(path) + (f"[{at}]" if index else "")
    words = f"{where} is {format_number(mine[index])}; it should be {format_number(right[index])}."
    if not index or max(mine.shape[-2:]) > LARGEST_PICTURE:
        return words, None
    lead = index[:-2]
    label = leaf_label(path) + (f"[{', '.join(map(str, lead))}]" if lead else "")
    cut = [t[lead].reshape(-1, t.shape[-1]) for t in (mine, right, differs)]
    return words, Picture(label, cut[0].tolist(), cut[1].tolist(), cut[2].tolist())
