"""A result of the wrong structure, explained by the parts of it that are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .compare import below, first_odd_part, label_in, steps_of
from .fingerprint import Fingerprint, fingerprint, same_leaf, tensor_fingerprint
from .sentences import STRUCTURE
from .values import Returned, flatten, has_numbers, numbers_of, plain

ORDINALS = ("first", "second", "third", "fourth")
IN_NUMPY = {
    "a tensor": "an array",
    "tensor": "array",
    "torch's": "NumPy's",
    "torch.cat": "np.concatenate",
    "torch.stack": "np.stack",
}


def node_at(tree: Any, path: str) -> Any:
    """Return the part of a tree that a path leads to."""
    for step in steps_of(path):
        key = int(step) if step.isdigit() else step[1:-1]
        if isinstance(tree, dict):
            tree = next((value for name, value in tree.items() if repr(name) == step), None)
        else:
            tree = tree[key] if isinstance(tree, list | tuple) and isinstance(key, int) and key < len(tree) else None
    return tree


def is_right_part(value: Any, right: Fingerprint, tolerance: float | None) -> bool:
    """Say whether one value has the fingerprint of a right one."""
    return isinstance(value, Tensor) and has_numbers(value) and same_leaf(tensor_fingerprint(value), right, tolerance)


def structural(
    mine: Returned, right: Fingerprint, names: Sequence[str], tolerance: float | None
) -> tuple[str, str] | None:
    """Return a word and a sentence about a result whose structure is wrong and whose parts are right, or None.

    Arrays are looked at as tensors.
    """
    arrays = any(leaf.get("array") for leaf in right["leaves"].values())
    theirs = {path: {k: v for k, v in leaf.items() if k != "array"} for path, leaf in right["leaves"].items()}
    found = odd_structure(Returned(with_tensors(mine.tree)), theirs, names, tolerance)
    return (found[0], in_numpys_words(found[1])) if found and arrays else found


def with_tensors(tree: Any) -> Any:
    """Return a tree with tensors in the places of arrays."""
    if isinstance(tree, list | tuple):
        return [with_tensors(item) for item in tree]
    if isinstance(tree, dict):
        return {key: with_tensors(item) for key, item in tree.items()}
    return numbers_of(tree) if isinstance(tree, np.ndarray) else tree


def in_numpys_words(sentence: str) -> str:
    """Say of arrays what is said of tensors."""
    for words, others in IN_NUMPY.items():
        sentence = sentence.replace(words, others)
    return sentence


def odd_structure(
    mine: Returned, theirs: Fingerprint, names: Sequence[str], tolerance: float | None
) -> tuple[str, str] | None:
    """Return a word and a sentence about a result of tensors."""
    prints = fingerprint(mine)["leaves"]
    if prints.keys() == theirs.keys():
        return wrong_order(mine, theirs, names, tolerance)
    path = first_odd_part(prints, theirs)
    node, asked = node_at(mine.tree, path), below(theirs, path)
    label = label_in(path, theirs, names) if path else "it"
    if "" in asked and "dtype" in asked[""] and isinstance(node, list | tuple):
        return next(several_for_one(node, asked[""], tolerance), None)
    children = [asked[key] for key in (f"[{i}]" for i in range(len(asked))) if key in asked]
    if len(children) == len(asked) > 1 and all("dtype" in child for child in children):
        words = names if len(names) == len(children) else [f"the {n} result" for n in ORDINALS[: len(children)]]
        if isinstance(node, Tensor) and has_numbers(node):
            return next(one_for_several(node, children, words, tolerance), None)
        if isinstance(node, list | tuple):
            return next(wrong_number(node, children, words, tolerance), None)
    if node is None and path and any(leaf.value is not None for leaf in flatten(mine.tree)):
        return "none", STRUCTURE["none"].format(name=label)
    return None


def several_for_one(node: Sequence[Any], right: Fingerprint, tolerance: float | None) -> Iterator[tuple[str, str]]:
    """Explain several things where one tensor was asked for."""
    for i, item in enumerate(node[: len(ORDINALS)]):
        if is_right_part(item, right, tolerance):
            yield "too many", STRUCTURE["too many"].format(count=len(node), ordinal=ORDINALS[i])
    if node and all(isinstance(t, Tensor) and has_numbers(t) and t.shape == node[0].shape for t in node):
        parts = [plain(item) for item in node]
        for axis in range(parts[0].ndim + 1):
            if is_right_part(torch.stack(parts, axis), right, tolerance):
                yield "not stacked", STRUCTURE["not stacked"].format(count=len(node), join="torch.stack")
        for axis in range(parts[0].ndim):
            if is_right_part(torch.cat(parts, axis), right, tolerance):
                yield "not joined", STRUCTURE["not stacked"].format(count=len(node), join="torch.cat")
    if node and all(isinstance(leaf.value, float | int) for leaf in flatten(node)):
        yield "lists", STRUCTURE["lists"]


def one_for_several(
    node: Tensor, right: Sequence[Fingerprint], names: Sequence[str], tolerance: float | None
) -> Iterator[tuple[str, str]]:
    """Explain one tensor where several were asked for."""
    asked = f"{', '.join(names[:-1])} and {names[-1]}"
    for name, child in zip(names, right, strict=True):
        if is_right_part(node, child, tolerance):
            yield "too few", STRUCTURE["one of several"].format(name=name, asked=asked)
    widths = [child["shape"][-1] if child["shape"] else 0 for child in right]
    if node.ndim and node.shape[-1] == sum(widths):
        parts = torch.split(plain(node), widths, dim=-1)
        if all(is_right_part(part, child, tolerance) for part, child in zip(parts, right, strict=True)):
            yield "joined", STRUCTURE["joined"].format(count=len(right), asked=asked)
    if node.ndim and node.shape[0] == len(right):
        parts = torch.unbind(plain(node), 0)
        if all(is_right_part(part, child, tolerance) for part, child in zip(parts, right, strict=True)):
            yield "stacked", STRUCTURE["stacked"].format(count=len(right), asked=asked)


def wrong_number(
    node: Sequence[Any], right: Sequence[Fingerprint], names: Sequence[str], tolerance: float | None
) -> Iterator[tuple[str, str]]:
    """Explain another number of results, where those that were asked for are among them."""
    found = [next((i for i, item in enumerate(node) if is_right_part(item, child, tolerance)), None) for child in right]
    there = [name for name, place in zip(names, found, strict=True) if place is not None]
    asked = f"{', '.join(names[:-1])} and {names[-1]}"
    if len(node) > len(right) and len(there) == len(right):
        yield "too many", STRUCTURE["more"].format(count=len(node), asked=asked)
    elif len(node) < len(right) and there:
        missing = [name for name in names if name not in there]
        yield "too few", STRUCTURE["fewer"].format(count=len(node), all=len(right), missing=", ".join(missing))


def wrong_order(
    mine: Returned, theirs: Fingerprint, names: Sequence[str], tolerance: float | None
) -> tuple[str, str] | None:
    """Say that a tuple holds the right tensors in the wrong order, if it does."""
    parents = dict.fromkeys(path[: path.rfind("[")] for path in theirs if path.endswith("]") and path[-2].isdigit())
    for parent in parents:
        children = below(theirs, parent)
        node, count = node_at(mine.tree, parent), len(children)
        right = [children.get(f"[{i}]", {}) for i in range(count)]
        if not isinstance(node, list | tuple) or not 2 <= count <= len(ORDINALS) or len(node) != count:
            continue
        if count != len(names):  # these are results of several calls
            continue
        if not all("dtype" in child for child in right):
            continue
        for order in permutations(range(count)):
            if list(order) != sorted(order) and all(
                is_right_part(node[i], right[n], tolerance) for i, n in enumerate(order)
            ):
                return "wrong order", STRUCTURE["wrong order"].format(asked=", then ".join(names))
    return None
